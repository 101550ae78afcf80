//! Connections: how many there may be, and how long a client may take to ask and to read.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_io_timeout::TimeoutStream;

/// Connections at once; others wait until one ends.
const MOST_CONNECTIONS: usize = 4_096;
/// Time for a client to send its headers, from the connection's begin and from the answer before on.
const HEADERS_WITHIN: Duration = Duration::from_secs(10);
/// Time for a client to take a part of an answer.
const READ_WITHIN: Duration = Duration::from_secs(30);
/// Bytes of headers.
const MOST_HEADER_BYTES: usize = 64 << 10;
/// Headers of a request.
const MOST_HEADERS: usize = 100;
/// Pause when the system has no more files to open.
const PAUSE: Duration = Duration::from_millis(50);
/// Time for answers in flight when the service ends.
const GRACE: Duration = Duration::from_secs(30);

/// Serves `router` on `listener` until `stop`; answers in flight are finished.
pub async fn serve(listener: TcpListener, router: Router, stop: impl Future<Output = ()>) {
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let open = GracefulShutdown::new();
    let mut stop = std::pin::pin!(stop);
    loop {
        let accepted = async {
            let place = Arc::clone(&places).acquire_owned().await;
            (place, listener.accept().await)
        };
        let (place, stream) = tokio::select! {
            (place, accepted) = accepted => match (place, accepted) {
                (Ok(place), Ok((stream, _))) => (place, stream),
                _ => {
                    tokio::time::sleep(PAUSE).await;
                    continue;
                }
            },
            () = &mut stop => break,
        };
        // Small answers go out at once.
        let _ = stream.set_nodelay(true);
        let mut stream = TimeoutStream::new(stream);
        stream.set_write_timeout(Some(READ_WITHIN));
        let service = TowerToHyperService::new(router.clone());
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEADERS_WITHIN)
            .max_buf_size(MOST_HEADER_BYTES)
            .max_headers(MOST_HEADERS)
            .serve_connection(TokioIo::new(Box::pin(stream)), service);
        let connection = open.watch(connection);
        tokio::spawn(async move {
            // What goes wrong on a connection is its client's doing.
            let _ = connection.await;
            drop(place);
        });
    }
    drop(listener);
    let _ = tokio::time::timeout(GRACE, open.shutdown()).await;
}
