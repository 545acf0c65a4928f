/** The text of --help. */
import { flags } from './arguments.js'

const commands = [
  ['standin [dev]', 'Start the platform'],
  ['standin token', 'Print a token for tests: --role, --email, --expires-in or --expired'],
  ['standin key create', 'Print a new API key: --name, --email, --expires-in'],
  ['standin config check', 'Say what is wrong with the configuration, or that nothing is'],
  ['standin config print', 'Show every option, its value and where that came from'],
  ['standin config init', 'Print a configuration file with every option at its default'],
  ['standin config schema', 'Print the JSON Schema of the configuration file'],
  ['standin replies check', 'Say which rules never answer, and what else is odd about them'],
  ['standin replies try PROMPT', 'Say which rule answers, what it says, and why'],
  ['standin replies schema', 'Print the JSON Schema of reply files'],
] as const

export function helpText(): string {
  const flagRows = Object.entries<{ value?: string; short?: string; meaning: string }>(flags).map(
    ([name, { value, short, meaning }]) =>
      [`--${name}${value ? ` ${value}` : ''}${short ? `, -${short}` : ''}`, meaning] as const,
  )
  return `A local stand-in for the AI platform: its documented endpoints, bearer rules and errors, offline.

Usage
${rows(commands)}

Flags
${rows(flagRows)}

Flags beat the environment (STANDIN_PORT), the environment beats the file, the file beats the defaults.

Examples
  standin                         start on http://127.0.0.1:4100 with the keys it prints
  standin --port 0 --json         start on any free port; the first line says which, for scripts
  standin token --role user --email ada@example.com
  standin config init > platform.config.yaml
`
}

function rows(entries: readonly (readonly [string, string])[]): string {
  const width = Math.max(...entries.map(([name]) => name.length))
  return entries.map(([name, meaning]) => `  ${name.padEnd(width)}  ${meaning}`).join('\n')
}
