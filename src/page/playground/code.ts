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

/** Inside single quotes, a shell treats every character literally, except the quote itself. */
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

interface Language {
  /** The words for true, false and null. */
  readonly words: readonly [string, string, string]
  readonly key: (name: string) => string
}

/** Writes a JSON value as the literal of a programming language. */
const python: Language = { words: ['True', 'False', 'None'], key: name => JSON.stringify(name) }

const javascript: Language = {
  words: ['true', 'false', 'null'],
  // A bare __proto__ would set the prototype instead of a key.
  key: name => (name === '__proto__' ? '["__proto__"]' : /^[a-z_$][\w$]*$/i.test(name) ? name : JSON.stringify(name)),
}

/** A value that fits is written on one line. */
const LINE = 80

function literal(value: unknown, language: Language, indent = ''): string {
  const flat = onOneLine(value, language)
  if (typeof value !== 'object' || value === null || indent.length + flat.length <= LINE) return flat
  const inner = `${indent}${' '.repeat(language === python ? 4 : 2)}`
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  const lines = entriesOf(value, language).map(([key, one]) => `${inner}${key}${literal(one, language, inner)},\n`)
  return `${open}\n${lines.join('')}${indent}${close}`
}

/** The items of a list or an object, each with the text before it. */
const entriesOf = (value: object, { key }: Language): readonly (readonly [string, unknown])[] =>
  Array.isArray(value)
    ? value.map(one => ['', one] as const)
    : Object.entries(value).map(([name, one]) => [`${key(name)}: `, one] as const)

function onOneLine(value: unknown, language: Language): string {
  const [yes, no, nothing] = language.words
  if (value === null || value === undefined) return nothing
  if (typeof value === 'boolean') return value ? yes : no
  if (typeof value !== 'object') return JSON.stringify(value)
  const inside = entriesOf(value, language).map(([key, one]) => key + onOneLine(one, language))
  if (Array.isArray(value)) return `[${inside.join(', ')}]`
  if (inside.length === 0) return '{}'
  return language === python ? `{${inside.join(', ')}}` : `{ ${inside.join(', ')} }`
}
