//! What the tools cost a host, which carries them in every request of its own model.

use sortie_testkit::Script;

use crate::site::Site;

/// What a host pays for Sortie before anything is asked of it.
const MAX_TOKENS: usize = 1500;

#[tokio::test]
async fn the_list_of_tools_costs_a_host_little_in_every_contract() {
    for contract in sortie_contract::CONTRACTS {
        let spoken = sortie_contract::contract(contract).expect("it is there");
        let site = Site::speaking(spoken, Script::new(), &[]);
        let client = site.connect(()).await;
        let tools = client.list_tools(None).await.expect("tools");
        let n_tokens = bpe_openai::o200k_base().count(&serde_json::to_string(&tools).expect("JSON"));
        assert!(n_tokens <= MAX_TOKENS, "{contract}: {n_tokens} tokens: {tools:#?}");
    }
}
