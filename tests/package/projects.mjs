export const projects = [];
