use std::sync::Arc; use std::time::Instant;
use sortie_tools::*; use sortie_protocol::*;
struct N; impl Delegation for N { fn delegate<'a>(&'a self,_:&'a CallId,_:TaskRequest)->BoxFuture<'a,Result<TaskOutcome,Failure>>{unreachable!()} fn fresh_mark(&self)->String{String::new()} }
#[tokio::main] async fn main(){
 let a:Vec<String>=std::env::args().collect();
 let ws=Arc::new(sortie_sandbox::Workspace::open(a[1].as_ref()).unwrap());
 let r=Registry::standard(None); let c=CallId("x".into()); let t=tokio_util::sync::CancellationToken::new();
 let n: usize = std::env::var("N").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
 for i in 0..n { let s=Instant::now(); let o=r.get(&a[2]).unwrap().run(&a[3],CallContext{call:&c,workspace:&ws,cancel:&t,delegation:&N}).await;
 if i==0 {println!("{}",o.for_model.chars().take(1500).collect::<String>());}
 if i==0||i+1==n {println!("--- {} | failed={} {:?} {} bytes",o.for_people,o.failed,s.elapsed(),o.for_model.len());} }
 let st=std::fs::read_to_string("/proc/self/status").unwrap(); println!("{}",st.lines().find(|l|l.starts_with("VmHWM")).unwrap());
 if a[2]=="Read" { println!("{}",serde_json::to_string(r.specs()).unwrap()); }
}
