exports.name = "data";
