/** A request as code for the clients that people have; a placeholder stands where the key would. */
import { PLACEHOLDER, type Snippet } from '../connect/snippets.js'
import { javascript, literal, python } from './literal.js'

/** `request` is the body as it was sent. */
export function codeFor(request: string, url: string): readonly Snippet[] {
  const body = JSON.parse(request) as Readonly<Record<string, unknown>>
  const isStream = body.stream === true
  return [
    { name: 'curl', code: curl(request, url, isStream) },
    { name: 'Python', code: inPython(body, url, isStream) },
    { name: 'Node', code: inNode(body, url, isStream) },
  ]
}

/** Between single quotes nothing means anything to a shell, but for the quote itself. */
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
  const named = Object.entries(body).map(([name, value]) => `    ${name}=${literal(value, python, '    ')},\n`)
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
const reply = await openai.chat.completions.create(${literal(body, javascript)})
${rest}`
}
