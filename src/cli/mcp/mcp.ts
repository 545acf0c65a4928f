/** `standin mcp --stdio`: connects an MCP client that starts servers as commands to a running Standin. */
import { createInterface } from 'node:readline'
import { UsageError } from '../../check/problem.js'
import { isLoopback } from '../../core/origins.js'
import { developmentApiKey } from '../../core/secrets.js'
import { addressFor } from '../address.js'
import { type CommandLine, command, sharedFlags, text, toggle } from '../command.js'
import { printable } from '../output.js'
import { Bridge } from './bridge.js'

const flags = {
  stdio: toggle('Read messages from standard input and write them to standard output, one per line'),
  url: text('URL', 'Address of Standin with the path of the server (PLATFORM_BASE_URL or as configured, with /mcp)'),
  key: text('KEY', 'API key or token (OPENAI_API_KEY on this machine, else the development key)'),
  quiet: sharedFlags.quiet,
}

type Line = CommandLine<typeof flags>

export const commands = {
  mcp: command({
    flags,
    examples: [
      ['standin mcp --stdio', 'bridge to /mcp of the Standin on this machine'],
      ['standin mcp --stdio --url http://127.0.0.1:4200/tools', 'bridge to the server /tools of another Standin'],
    ],
    run: runBridge,
  }),
}

/** Runs until standard input ends. Only messages are written to standard output. Rejects with a UsageError. */
async function runBridge(line: Line): Promise<undefined> {
  if (!line.flags.stdio) throw new UsageError('standin mcp needs --stdio, the transport between it and its client.')
  const url = serverUrl(line)
  const report = (sentence: string) => console.error(printable(sentence))
  const bridge = new Bridge({
    ...{ url: url.href, key: credentialFor(line, url), report },
    write: message => void process.stdout.write(`${message}\n`),
  })
  if (!line.flags.quiet) report(`Messages are sent to ${url.href}.`)
  for await (const message of createInterface({ input: process.stdin })) bridge.receiveLine(message)
  await bridge.end()
}

function serverUrl(line: Line): URL {
  const { url } = addressFor(line, line.flags.url)
  const path = url.pathname === '/' ? '/mcp' : url.pathname
  return new URL(path + url.search, url.origin)
}

/** The key in the environment may be a real OpenAI key, so it is only sent to this machine. */
function credentialFor({ flags: { key } }: Line, { hostname, host }: URL): string {
  if (key !== undefined) return key
  if (isLoopback(hostname)) return process.env.OPENAI_API_KEY || developmentApiKey
  throw new UsageError(`${host} is not on this machine. Give the credential for it with --key.`)
}
