/** A request as code for the usual clients, with a placeholder for the key. */
import { PLACEHOLDER, type Snippet } from '../connect/snippets.js'

/** `request` is the body as sent. */
export function codeFor(request: string, url: string): readonly Snippet[] {
  const body = JSON.parse(request) as Readonly<Record<string, unknown>>
  const isStream = body.stream === true
  return [
    { name: 'curl', code: curl(request, url, isStream) },
    { name: 'Python', code: inPython(body, url, isStream) },
    { name: 'Node', code: inNode(body, url, isStream) },
  ]
}

/** Quotes a shell argument. Inside single quotes, only the quote itself is special. */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

const curl = (
  request: string,
  url: string,
  isStream: boolean,
) => `curl ${isStream ? '-N ' : ''}${url}/v1/chat/completions \\
  -H "Authorization: Bearer ${PLACEHOLDER}" \\
  -H "Content-Type: application/json" \\
  --data-raw ${quoted(request)}`

function inPython(body: Readonly<Record<string, unknown>>, url: string, isStream: boolean): string {
  const named = Object.entries(body).map(([name, value]) => `    ${name}=${asPython(value)},\n`)
  const rest = isStream
    ? `for chunk in reply:
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="", flush=True)`
    : 'print(reply.choices[0].message)'
  return `from openai import OpenAI

client = OpenAI(
    base_url=${JSON.stringify(`${url}/v1`)},
    api_key="${PLACEHOLDER}",
)
reply = client.chat.completions.create(
${named.join('')})
${rest}`
}

function inNode(body: Readonly<Record<string, unknown>>, url: string, isStream: boolean): string {
  const rest = isStream
    ? `for await (const chunk of reply) {
  process.stdout.write(chunk.choices[0]?.delta.content ?? '')
}`
    : 'console.log(reply.choices[0].message)'
  return `import OpenAI from 'openai'

const openai = new OpenAI({
  baseURL: '${url}/v1',
  apiKey: '${PLACEHOLDER}',
})
const reply = await openai.chat.completions.create(${asJavaScript(body)})
${rest}`
}

/** A string, with the colon if it is a key, or a word outside of strings. */
const tokens = /"(?:[^"\\]|\\.)*(?:"|$)(:?)|\b(?:true|false|null)\b/g

const words: Readonly<Record<string, string>> = { true: 'True', false: 'False', null: 'None' }

/** JSON is Python except for three words. Indented as an argument of a call. */
const asPython = (value: unknown) =>
  JSON.stringify(value, null, 4)
    .replace(tokens, token => words[token] ?? token)
    .replaceAll('\n', '\n    ')

/** JSON is JavaScript, but names need no quotes as keys. In brackets, `__proto__` is an ordinary key. */
const asJavaScript = (value: object) =>
  JSON.stringify(value, null, 2).replace(tokens, (token, colon) => {
    if (!colon) return token
    if (token === '"__proto__":') return '["__proto__"]:'
    return /^"[a-z_$][\w$]*":$/i.test(token) ? token.replaceAll('"', '') : token
  })
