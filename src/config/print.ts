/** Prints the configuration: the current values with their origins, or the reference file with all defaults. */
import { inlineYaml } from '../check/yaml.js'
import type { LoadedConfig } from './load.js'
import { isOption, isSecret, type Option, valueAt, walkOptions } from './options.js'

const indent = (path: readonly string[]) => '  '.repeat(path.length - 1)
const nameOf = (path: readonly string[]) => path.at(-1) ?? ''

/** Prints the current configuration as YAML, with the origin of each value in a comment. Secrets are masked. */
export function printConfig({ config, originOf }: LoadedConfig): string {
  const lines = [...walkOptions()].map(entry => {
    const start = `${indent(entry.path)}${nameOf(entry.path)}:`
    if (!isOption(entry)) return start
    return `${start} ${inlineYaml(masked(valueAt(config, entry.path), entry.path))} # ${originOf(entry.path)}`
  })
  return `${lines.join('\n')}\n`
}

/** Returns `value` with all secrets masked. An empty secret stays empty, since there is nothing to hide. */
function masked(value: unknown, path: readonly (string | number)[]): unknown {
  if (isSecret(path)) return value === '' ? '' : '********'
  // A password in a URL is secret as well.
  if (typeof value === 'string') return value.replace(/\/\/[^/@\s]*@/, '//…@')
  if (Array.isArray(value)) return value.map((item, i) => masked(item, [...path, i]))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, masked(item, [...path, key])]))
}

/** The text of `platform.config.yaml`: all options with their defaults, each below its description. */
export function configReference(schemaAddress: string): string {
  const blocks = [...walkOptions()].map(entry => {
    const pad = indent(entry.path)
    const comment = `${pad}# ${entry.meaning}`
    if (!isOption(entry)) return `${comment}\n${pad}${nameOf(entry.path)}:`
    return `${comment}\n${defaultOf(entry)}`
  })
  return `${head(schemaAddress)}\n${blocks.join('\n\n').replaceAll(/:\n\n(?= )/g, ':\n')}\n`
}

const head = (schemaAddress: string) => `# yaml-language-server: $schema=${schemaAddress}
#
# All options of Standin with their defaults. Delete the ones that you do not change.
# \${NAME} and \${NAME:-default} stand for environment variables; Standin also reads a .env file beside this one.
# Each option also has an environment variable: STANDIN_LIMITS_BODY_BYTES for limits.bodyBytes.
`

function defaultOf({ path, initial }: Option): string {
  const start = `${indent(path)}${nameOf(path)}:`
  if (!Array.isArray(initial) || initial.length === 0 || initial.some(item => typeof item !== 'object')) {
    return `${start} ${inlineYaml(initial)}`
  }
  return [start, ...initial.map(item => `${indent(path)}  - ${inlineYaml(item)}`)].join('\n')
}
