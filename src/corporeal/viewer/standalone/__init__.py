"""A page without a server: one file with three.js and takes, for papers and mails."""
