/** `standin mcp --stdio`: connects an MCP client that starts servers as commands to a running Standin. */
import { createInterface } from 'node:readline'
import { UsageError } from '../../check/problem.js'
import { isLoopback } from '../../core/origins.js'
import { developmentApiKey } from '../../core/secrets.js'
import { addressFor } from '../address.js'
import { type CommandLine, command, sharedFlags, text, yes } from '../command.js'
import { harmless } from '../output.js'
import { Bridge } from './bridge.js'

const flags = {
  stdio: yes('Read messages from standard input and write them to standard output, one per line'),
  url: text('URL', 'Address of Standin, with the path of the server (PLATFORM_BASE_URL or as configured, /mcp)'),
  key: text('KEY', 'API key or token (OPENAI_API_KEY on this machine, else the development key)'),
  quiet: { ...sharedFlags.quiet, meaning: 'Print problems only' },
}

type Line = CommandLine<typeof flags>

export const commands = {
  mcp: command({
    flags,
    examples: [
      ['standin mcp --stdio', 'bridge to /mcp of the Standin that runs here'],
      ['standin mcp --stdio --url http://127.0.0.1:4200/tools', 'bridge to another server of another Standin'],
    ],
    run: bridge,
  }),
}

/** Runs until standard input ends. Rejects with a UsageError. Standard output only has messages. */
async function bridge(line: Line): Promise<undefined> {
  if (!line.flags.stdio) throw new UsageError('standin mcp needs --stdio: the way in which it speaks to its client.')
  const url = serverAt(line)
  const say = (sentence: string) => console.error(harmless(sentence))
  const open = new Bridge({
    ...{ url: url.href, key: keyFor(line, url), say },
    write: message => void process.stdout.write(`${message}\n`),
  })
  if (!line.flags.quiet) say(`Messages are sent to ${url.href}.`)
  for await (const written of createInterface({ input: process.stdin })) open.take(written)
  await open.end()
}

function serverAt(line: Line): URL {
  const { url } = addressFor(line, line.flags.url)
  const path = url.pathname === '/' ? '/mcp' : url.pathname
  return new URL(path + url.search, url.origin)
}

/** The key in the environment may be a real OpenAI key, so it is only sent to this machine. */
function keyFor({ flags: { key } }: Line, { hostname, host }: URL): string {
  if (key !== undefined) return key
  if (isLoopback(hostname)) return process.env.OPENAI_API_KEY || developmentApiKey
  throw new UsageError(`${host} is not on this machine. Give the credential for it with --key.`)
}
