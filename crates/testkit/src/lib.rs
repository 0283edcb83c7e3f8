//! Scripted model and HTTP server, fake clock and ids, suites run over every journal
