/** The processes of a run, wherever they went, and the ports on which they listen. */
import { execFile } from 'node:child_process'
import { readdir, readFile, readlink } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'

const execute = promisify(execFile)

/** The parent of the kernel's own threads, which have no environment. */
const KERNEL = 2

interface ProcessFacts {
  readonly pid: number
  readonly parent: number
  readonly group: number
  readonly session: number
  /** Whether its environment has the mark of the run. */
  readonly isMarked: boolean
}

/**
 * The processes that the one with this id has started, in any group and session: those that have inherited `mark`, such
 * as `NAME=value`, and their children. It may have ended.
 */
export async function processesOf(leader: number, mark: string): Promise<readonly number[]> {
  const all = await (process.platform === 'linux' ? processesOfLinux(mark) : processesByPs(mark))
  const found = new Set([leader])
  const isOne = ({ pid, parent, group, session, isMarked }: ProcessFacts) =>
    !found.has(pid) && (isMarked || [parent, group, session].some(id => found.has(id)))
  for (let more = all.filter(isOne); more.length > 0; more = all.filter(isOne))
    for (const { pid } of more) found.add(pid)
  return all.flatMap(({ pid }) => (found.has(pid) && pid !== process.pid ? [pid] : []))
}

async function processesOfLinux(mark: string): Promise<readonly ProcessFacts[]> {
  const ids = (await readdir('/proc')).filter(name => /^\d+$/.test(name))
  const read = async (pid: string): Promise<readonly ProcessFacts[]> => {
    try {
      const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
      // The name, in brackets, may have spaces and brackets of its own.
      const [state, ...numbers] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      const [parent = 0, group = 0, session = 0] = numbers.map(Number)
      const environment = parent === KERNEL ? '' : await environmentOf(pid)
      const isMarked = environment.split('\0').includes(mark)
      // A zombie has ended.
      return state === 'Z' ? [] : [{ pid: Number(pid), parent, group, session, isMarked }]
    } catch {
      return []
    }
  }
  return (await Promise.all(ids.map(read))).flat()
}

/** While the system loads a process's program, its environment is empty for a moment. */
async function environmentOf(pid: string): Promise<string> {
  for (let looks = 0; looks < 5; looks++) {
    // Those of other users cannot be read.
    const text = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => undefined)
    if (text !== '') return text ?? ''
    await setTimeout(5)
  }
  return ''
}

/** As on macOS, where `-E` shows environments. Sessions have no number there. */
async function processesByPs(mark: string): Promise<readonly ProcessFacts[]> {
  const options = ['-AEww', '-o', 'pid=,ppid=,pgid=,command=']
  const { stdout } = await execute('ps', options, { maxBuffer: 2 ** 26 }).catch(() => ({ stdout: '' }))
  return stdout.split('\n').flatMap(line => {
    const [pid = 0, parent = 0, group = 0] = line.trim().split(/\s+/, 3).map(Number)
    return pid > 0 ? [{ pid, parent, group, session: group, isMarked: line.includes(mark) }] : []
  })
}

/** The ports that these processes listen on and that are not drawn by the system: a second process could not have them too. */
export async function fixedPortsOf(pids: readonly number[]): Promise<readonly number[]> {
  const ports = await (process.platform === 'linux' ? portsOfLinux(pids) : portsByLsof(pids))
  const [least = 0, most = 0] = await drawnPorts()
  return ports.filter(port => port < least || port > most)
}

async function drawnPorts(): Promise<readonly number[]> {
  if (process.platform !== 'linux') return [49_152, 65_535]
  return (await readFile('/proc/sys/net/ipv4/ip_local_port_range', 'utf8')).trim().split(/\s+/).map(Number)
}

/** The state of a listening socket in /proc/net/tcp. */
const LISTENING = '0A'

async function portsOfLinux(pids: readonly number[]): Promise<readonly number[]> {
  const tables = await Promise.all(['tcp', 'tcp6'].map(name => readFile(`/proc/net/${name}`, 'utf8').catch(() => '')))
  const portsBySocket = new Map(
    tables.flatMap(table =>
      table.split('\n').flatMap((line): readonly [string, number][] => {
        const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/)
        return state === LISTENING ? [[`socket:[${inode}]`, Number.parseInt(local.split(':')[1] ?? '', 16)]] : []
      }),
    ),
  )
  const openIn = async (pid: number) => {
    const folder = `/proc/${pid}/fd`
    const files = await readdir(folder).catch(() => [])
    return Promise.all(files.map(file => readlink(`${folder}/${file}`).catch(() => '')))
  }
  const open = (await Promise.all(pids.map(openIn))).flat()
  return open.flatMap(file => portsBySocket.get(file) ?? [])
}

async function portsByLsof(pids: readonly number[]): Promise<readonly number[]> {
  const options = ['-nP', '-a', '-iTCP', '-sTCP:LISTEN', '-p', pids.join(','), '-Fn']
  const { stdout } = await execute('lsof', options).catch(() => ({ stdout: '' }))
  return [...stdout.matchAll(/^n.*:(\d+)$/gm)].map(([, port]) => Number(port))
}
