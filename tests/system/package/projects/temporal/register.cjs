require("temporalex/compat/register");
