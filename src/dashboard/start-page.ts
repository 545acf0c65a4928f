/** The start page as HTML. */
/** What the page shows. Keys are not among it: they stand in the terminal of whoever started the platform. */
export interface DashboardFacts {
  readonly url: string
  readonly authUrl: string
  readonly mode: string
  readonly models: readonly string[]
  readonly endpoints: readonly {
    readonly method: string
    readonly path: string
    readonly access: 'anyone' | readonly string[]
  }[]
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const escaped = (text: string) => text.replace(/[&<>"']/g, character => entities[character] ?? character)

/** HTML in which everything that is filled in is escaped, unless it is HTML itself. */
class Html {
  constructor(readonly text: string) {}
}
const html = (parts: TemplateStringsArray, ...values: readonly (string | Html | readonly Html[])[]) =>
  new Html(
    String.raw(
      { raw: parts },
      ...values.map(value => {
        if (typeof value === 'string') return escaped(value)
        return value instanceof Html ? value.text : value.map(({ text }) => text).join('')
      }),
    ),
  )

export function startPage({ url, authUrl, mode, models, endpoints }: DashboardFacts): string {
  const model = models[0] ?? ''
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Standin</title>
<link rel="stylesheet" href="/dashboard/style.css">
</head>
<body>
<header>
<h1>Standin</h1>
<p>The AI platform on this machine, in mode <strong>${mode}</strong>.</p>
</header>
<main>
<section aria-labelledby="connect">
<h2 id="connect">Connect an app</h2>
<p>The keys stand in the terminal in which Standin was started, as a block to copy into <code>.env</code>.</p>
<dl>
<div><dt>Base URL</dt><dd><code>${url}</code></dd></div>
<div><dt>For OpenAI's clients</dt><dd><code>${url}/v1</code></dd></div>
<div><dt>Auth URL</dt><dd><code>${authUrl}</code></dd></div>
</dl>
</section>
<section aria-labelledby="endpoints">
<h2 id="endpoints">Endpoints</h2>
<div class="wide" role="region" aria-labelledby="endpoints" tabindex="0">
<table>
<thead><tr><th scope="col">Method</th><th scope="col">Path</th><th scope="col">Credential</th></tr></thead>
<tbody>
${endpoints.map(
  ({ method, path, access }) =>
    html`<tr><td>${method}</td><td><code>${path}</code></td><td>${access === 'anyone' ? 'none' : access.join(', ')}</td></tr>\n`,
)}</tbody>
</table>
</div>
</section>
<section aria-labelledby="models">
<h2 id="models">Models</h2>
<ul>
${models.map(id => html`<li><code>${id}</code></li>\n`)}</ul>
</section>
<section aria-labelledby="try">
<h2 id="try">Try it</h2>
<pre tabindex="0"><code>curl ${url}/v1/chat/completions \\
  -H "Authorization: Bearer $OPENAI_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"model": "${model}", "messages": [{"role": "user", "content": "hello"}]}'</code></pre>
<pre tabindex="0"><code>import OpenAI from 'openai'

const openai = new OpenAI({
  baseURL: '${url}/v1',
  apiKey: process.env.OPENAI_API_KEY,
})
const reply = await openai.chat.completions.create({
  model: '${model}',
  messages: [{ role: 'user', content: 'hello' }],
})</code></pre>
</section>
</main>
</body>
</html>
`.text
}
