/** A project with the tests of a runner, and a live platform that never says the same twice. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { onTestFinished } from 'vitest'
import { startIn, writeInto } from '../command.js'
import { type App, appsForAll } from '../package/apps.js'
import { runners, type Suite } from './runners.js'

/** Does not occur in any other file. */
export const LIVE_KEY = 'sk-live-Together0123456789abcdef'

/** Counts what it was asked. */
async function liveModel() {
  let asked = 0
  const server = createServer(async (request, response) => {
    for await (const _ of request);
    const { authorization } = request.headers
    if (authorization !== `Bearer ${LIVE_KEY}`) return void response.writeHead(401).end('{}')
    asked++
    const message = { role: 'assistant', content: `Answer ${asked}, ${Math.random()}`, refusal: null }
    const choices = [{ index: 0, message, logprobs: null, finish_reason: 'stop' }]
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
    const head = { id: `chatcmpl-${asked}`, object: 'chat.completion', created: asked, model: 'gpt-4o-mini' }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ ...head, choices, usage }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked: () => asked }
}

export interface Run {
  readonly workers?: number
  readonly files?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

export type Project = Awaited<ReturnType<ReturnType<typeof projects>>>

/** Creates projects that share their packages. */
export function projects() {
  const appFolder = appsForAll()
  return async (runner: keyof typeof runners) => {
    const app = await appFolder()
    for (const name of readdirSync(app.dir))
      if (name !== 'node_modules') rmSync(path.join(app.dir, name), { recursive: true })
    const live = await liveModel()
    const { files, command }: Suite = runners[runner]
    writeInto(app.dir, {
      ...files,
      'package.json': '{ "type": "module" }',
      'platform.config.yaml': `upstream: { baseUrl: '${live.url}', apiKey: ${LIVE_KEY} }\n`,
    })
    const node = (args: readonly string[], env: Run['env'] = {}) => runNode(app.dir, args, env)
    const standin = (...args: readonly string[]) => node(['node_modules/standin/dist/cli.js', ...args])
    return {
      app,
      live,
      standin,
      /** Runs the tests without `standin exec`. */
      alone: ({ workers = 1, files = [], env }: Run = {}) => node(command(workers, ...files), env),
      /** Runs them beside a Standin that was started before. */
      beside: (flags: readonly string[], { workers = 1, files = [] }: Run = {}) =>
        besideStandin(app.dir, flags, env => node(command(workers, ...files), env)),
      exec: (flags: readonly string[], { workers = 1, files = [] }: Run = {}) =>
        standin('exec', ...flags, '--', process.execPath, ...command(workers, ...files)),
      /** What the tests remember of earlier runs. */
      forget: () => rmSync(path.join(app.dir, 'said'), { recursive: true, force: true }),
    }
  }
}

/** Starts Standin, runs something with its addresses, and ends it. Returns what the two printed. */
async function besideStandin(
  cwd: string,
  flags: readonly string[],
  run: (env: NonNullable<Run['env']>) => ReturnType<typeof runNode>,
) {
  const standin = startIn(cwd, ['dev', '--port', '0', '--json', ...flags], {})
  const { url, apiKey } = JSON.parse(await standin.stdout.next('"event":"ready"')) as Record<string, string>
  const { code, output } = await run({
    PLATFORM_BASE_URL: url ?? '',
    OPENAI_BASE_URL: `${url}/v1`,
    OPENAI_API_KEY: apiKey ?? '',
  })
  standin.send('SIGTERM')
  const { stdout } = await standin.ended
  return { code, output: output + stdout }
}

function runNode(cwd: string, args: readonly string[], env: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, args, { cwd, env: { PATH: process.env.PATH, NO_COLOR: '1', ...env } })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', text => (output += text))
  return new Promise<{ code: number | null; output: string }>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', code => resolve({ code, output }))
  })
}

export const recordingsOf = ({ dir }: App) =>
  readdirSync(path.join(dir, 'fixtures/recordings'), { recursive: true, encoding: 'utf8' }).filter(
    name => name.endsWith('.yaml') && !name.startsWith('prompts'),
  )
