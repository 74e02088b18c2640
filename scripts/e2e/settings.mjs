// Writes the settings of an agent of other people: the model that it asks, and with URL a server that it reaches there.
// usage: node settings.mjs AGENT HOME PORT FOLDER [URL]; PORT is that of the model, FOLDER the one that the agent works in
import fs from 'node:fs';
import path from 'node:path';

const [agent, home, port, folder, url] = process.argv.slice(2);
const model = `http://127.0.0.1:${port}`;
const write = (file, value) => {
	file = path.join(home, file);
	fs.mkdirSync(path.dirname(file), {recursive: true});
	fs.writeFileSync(file, typeof value === 'string' ? value : JSON.stringify(value, null, 2) + '\n');
};
const servers = one => url ? {mcpServers: {skills: one}} : {};

const settings = {
	// What it would ask at its first start in a terminal is answered.
	claude: () => write('.claude.json', {hasCompletedOnboarding: true, theme: 'dark', customApiKeyResponses: {approved: ['fake'], rejected: []},
		projects: {[folder]: {hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true}}, ...servers({type: 'http', url})}),
	// A model that Codex knows gets no plain tools. Plugins would be asked for at a host of git.
	codex: () => write('.codex/config.toml', `# the model
model = "fake"
model_provider = "fake"
approval_policy = "never"
sandbox_mode = "danger-full-access"

[model_providers.fake]
name = "fake"
base_url = "${model}/v1"
env_key = "FAKE_KEY"
wire_api = "responses"

[analytics]
enabled = false

[features]
plugins = false
${url ? `\n[mcp_servers.skills]\nurl = "${url}"\n` : ''}`),
	gemini: () => write('.gemini/settings.json', {security: {auth: {selectedType: 'gemini-api-key'}}, privacy: {usageStatisticsEnabled: false}, telemetry: {enabled: false},
		general: {enableAutoUpdate: false}, ...servers({httpUrl: url})}),
	opencode: () => write('.config/opencode/opencode.json', {model: 'fake/fake', small_model: 'fake/fake', autoupdate: false, share: 'disabled', permission: {'*': 'allow'},
		provider: {fake: {npm: '@ai-sdk/openai-compatible', name: 'fake', options: {baseURL: model + '/v1', apiKey: 'fake'}, models: {fake: {name: 'fake'}}}},
		...(url ? {mcp: {skills: {type: 'remote', url, enabled: true}}} : {})}),
	qwen: () => write('.qwen/settings.json', {security: {auth: {selectedType: 'openai'}}, privacy: {usageStatisticsEnabled: false}, telemetry: {enabled: false},
		general: {enableAutoUpdate: false}, ...servers({httpUrl: url})}),
	copilot: () => write('.copilot/mcp-config.json', servers({type: 'http', url, tools: ['*']})),
};
settings[agent]();
