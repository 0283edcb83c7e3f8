//! A server for the protocol's conformance suite: `conformance TOKEN_FILE`.
//!
//! The suite expects tools, resources and prompts by name, and this server offers them over the same HTTP layer as
//! `sortie mcp --http`, token included. It prints its address, and ends when its standard input ends. `cargo xtask mcp`
//! runs it.

mod changes;
mod fixture;
mod house;
mod jobs;
mod lists;
mod prompts;
mod questions;
mod resources;
mod talk;

use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use sortie_mcp::http::{Bounds, Listener, PATH, Reach, Token, serve};
use tokio_util::sync::CancellationToken;

use crate::fixture::Fixture;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args().nth(1).ok_or("usage: conformance TOKEN_FILE")?;
    let token = Token::new(std::fs::read_to_string(file)?.trim()).ok_or("the file has no token")?;
    let fixture = Fixture::new()?;
    let listener = Listener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), Reach::ThisMachine).await?;
    #[expect(clippy::print_stdout, reason = "who started it reads the address")]
    {
        println!("http://{}{PATH}", listener.address());
    }
    let stop = CancellationToken::new();
    let stopped = stop.clone();
    std::thread::spawn(move || {
        // It carries no data; its end means that the parent process is gone.
        std::io::copy(&mut std::io::stdin(), &mut std::io::sink()).ok();
        stopped.cancel();
    });
    serve(listener, Arc::new(move || Some(token.clone())), Bounds::default(), move || fixture.clone(), stop).await;
    Ok(())
}
