/** All commands, grouped by task. Their descriptions are here, so that the overview of the help loads none of them. */
import type { Command, Flags } from './command.js'

export interface ListedCommand {
  /** `recordings scan`. */
  readonly name: string
  /** The name and the arguments: required ones, `[optional]` ones, and `…` for any number. */
  readonly usage: string
  readonly does: string
  load(): Promise<Command<Flags>>
}

/** Imports the commands of a file, by name. That each reads only its own flags is checked where it is declared. */
type Load = () => Promise<Readonly<Record<string, Omit<Command<Flags>, 'run'>>>>

const dev: Load = async () => (await import('./dev.js')).devCommands
const exec: Load = async () => (await import('./exec.js')).execCommands
const tail: Load = async () => (await import('./tail/tail.js')).tailCommands
const verify: Load = async () => (await import('./verify/verify.js')).commands
const config: Load = async () => (await import('./config.js')).configCommands
const recordings: Load = async () => (await import('./recordings.js')).recordingsCommands
const drift: Load = async () => (await import('./drift/drift.js')).commands
const har: Load = async () => (await import('./har.js')).importCommands
const mint: Load = async () => (await import('./mint.js')).credentialCommands
const replies: Load = async () => (await import('./replies.js')).replyCommands

/** To add a command, add an entry here and its file. */
const commandTable: Readonly<Record<string, readonly (readonly [usage: string, does: string, load: Load])[]>> = {
  'Start Standin': [
    ['[dev]', 'Start the platform', dev],
    ['record', 'Start in mode record: forward to the live platform and record answers', dev],
    ['replay', 'Start in mode replay: answer from recordings', dev],
    ['exec -- COMMAND', 'Run a command with a platform of its own, on any free port', exec],
  ],
  'Inspect and check': [
    ['tail', 'Follow the requests of a running Standin', tail],
    ['verify', "Check every rule of the platform's document, here or at a --target", verify],
    ['openapi', 'Print the OpenAPI document of the endpoints and your own paths', config],
  ],
  Recordings: [
    ['recordings prune', 'Remove recordings: --incomplete, --older-than, --broken', recordings],
    ['recordings scan [FILES…]', 'Find secrets in recordings and FILES; exit with 1 if there are any', recordings],
    ['drift', 'Repeat recorded requests at the live platform, and report changes', drift],
    ['import FILE.har', 'Turn a HAR file into recordings; - is standard input', har],
  ],
  Credentials: [
    ['token', 'Print a token for tests', mint],
    ['key create', 'Print a new API key', mint],
  ],
  'Configuration and replies': [
    ['config check', 'Check the configuration and report mistakes', config],
    ['config print', 'Show every option, its value and where it was set', config],
    ['config init', 'Print a first configuration file with the options that people change most', config],
    ['replies check', 'Find rules that can never answer, and mistakes in rule files', replies],
    ['replies try [PROMPT…]', 'Show which rule answers, with what, and why', replies],
  ],
}

const listedCommand = ([usage, does, load]: readonly [string, string, Load]): ListedCommand => {
  const name = usage.match(/^\[?([a-z]+( [a-z]+(-[a-z]+)*)?)/)?.[1] ?? usage
  return { name, usage, does, load: async () => (await load())[name] as Command<Flags> }
}

export const topics = Object.entries(commandTable).map(([topic, commands]) => ({
  topic,
  commands: commands.map(listedCommand),
}))

export const commands = topics.flatMap(({ commands }) => commands)

const byName = new Map(commands.map(command => [command.name, command]))

/** Finds the command by its first one or two words. `standin` alone is `standin dev`. */
export const findCommand = ([first = 'dev', second]: readonly string[]) =>
  byName.get(`${first} ${second}`) ?? byName.get(first)

/** The commands whose name begins with this word, such as all of `recordings`. */
export const groupOf = (word: string) => commands.filter(({ name }) => name.split(' ')[0] === word)
