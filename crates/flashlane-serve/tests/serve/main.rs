//! Clients over sockets.
