/** A live platform in a test, and Standin in front of it. */
import { EventEmitter, once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import http, { type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { onTestFinished } from 'vitest'
import type { PlatformOptions } from '../../src/index.js'
import { folderWith } from '../command.js'
import { platformWith } from '../scene.js'

/** Does not occur in any other file. */
export const liveKey = 'sk-live-0123456789abcdefABCDEF'

/** A live platform that answers with this listener. */
export async function liveWith(answer: RequestListener) {
  const seen: { readonly request: IncomingMessage; readonly body: string }[] = []
  const asked = new EventEmitter()
  const server = http.createServer(async (request, response) => {
    const body: Buffer[] = []
    for await (const chunk of request) body.push(chunk)
    seen.push({ request, body: Buffer.concat(body).toString() })
    asked.emit('request', request, response)
    answer(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = async () => {
    server.closeAllConnections()
    server.close()
  }
  onTestFinished(close)
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    close,
    nextRequest: () => once(asked, 'request') as Promise<[IncomingMessage, ServerResponse]>,
  }
}

/** Answers every request with the same JSON. */
export const saying =
  (value: object): RequestListener =>
  (_request, response) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))

/** A folder for recordings, and platforms that record into it and replay from it. */
export function tape(liveUrl = '') {
  const dir = folderWith()
  const options = ({ upstream, recordings, ...more }: PlatformOptions): PlatformOptions => ({
    upstream: { baseUrl: liveUrl, apiKey: liveKey, ...upstream },
    recordings: { dir, ...recordings },
    ...more,
  })
  return {
    dir,
    recording: (more: PlatformOptions = {}) => platformWith({ mode: 'record', ...options(more) }),
    replaying: (more: PlatformOptions = {}) => platformWith({ mode: 'replay', ...options(more) }),
    /** The file names of the recordings on disk. */
    files: () => filesIn(dir),
    /** The text of a recording, by default of the only one. */
    text: (file = filesIn(dir)[0] ?? '') => readFileSync(path.join(dir, file), 'utf8'),
  }
}

const filesIn = (dir: string) =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && !entry.parentPath.includes('.standin'))
    .map(entry => path.relative(dir, path.join(entry.parentPath, entry.name)))
    .sort()
