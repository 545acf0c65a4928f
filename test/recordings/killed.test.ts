import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { Folder, isProblem } from '../../src/recordings/folder.js'
import { processName } from '../../src/recordings/process.js'
import { startReady } from '../command.js'
import { hello } from '../scene.js'
import { liveKey, liveWith, saying, tape } from './live.js'

test('a process killed while it records leaves only complete recordings and no secret', async () => {
  const live = await liveWith((request, response) => saying({ said: request.headers.authorization })(request, response))
  const { dir, files, replaying } = tape(live.url)
  const env = { STANDIN_UPSTREAM_API_KEY: liveKey, STANDIN_STATE: 'memory' }
  const flags = ['--mode', 'record', '--upstream', live.url, '--recordings', dir]
  for (let round = 0; round < 2; round++) {
    const before = files().length
    const { chat, send, ended } = await startReady({ flags, env })
    const ask = async () => (await chat({ ...hello, user: randomUUID() })).text()
    let killed = false
    const clients = Array.from({ length: 4 }, async () => {
      while (!killed) await ask().catch(() => {})
    })
    await expect.poll(() => files().length, { interval: 5, timeout: 10_000 }).toBeGreaterThan(before + 15)
    send('SIGKILL')
    killed = true
    await ended
    await Promise.all(clients)
  }
  const folder = new Folder(dir)
  const kept = [...folder.files()]
  expect(kept.length).toBeGreaterThan(30)
  const replay = await replaying()
  for (const file of kept) {
    const recording = folder.read(file)
    if (isProblem(recording)) throw new Error(recording.sentence)
    const { request, response } = recording
    expect(response.complete).toBe(true)
    if (request.body.kind !== 'json') throw new Error('a chat request is JSON')
    expect((await replay.chat(request.body.value as object)).status).toBe(200)
  }
  for (const file of files()) expect(readFileSync(path.join(dir, file), 'utf8')).not.toContain(liveKey)
})

test('the next start removes leftovers of killed processes and keeps the files of running ones', async () => {
  const { dir, replaying } = tape()
  mkdirSync(path.join(dir, 'models'), { recursive: true })
  const { pid: deadPid } = spawnSync(process.execPath, ['--version'])
  const left = (name: string) => {
    writeFileSync(path.join(dir, name), 'half')
    return path.join(dir, name)
  }
  // As in a container, where the previous process had the same pid.
  const ofPreviousProcess = left(`models/.c.yaml.${process.pid}.1-1.tmp`)
  const leftovers = [left(`.a.yaml.${deadPid}-1.tmp`), left(`models/.b.yaml.${deadPid}-7.tmp`), ofPreviousProcess]
  const living = [process.pid, process.ppid].map(processName)
  const others = [...living.map(name => left(`.d.yaml.${name}-1.tmp`)), left('notes.tmp')]
  await expect((await replaying()).chat(hello)).resolves.toMatchObject({ status: 424 })
  expect(leftovers.filter(existsSync)).toEqual([])
  expect(others.filter(existsSync)).toEqual(others)
})
