/** Prints the configuration: the current values with their origins, or a first file. */
import { isDeepStrictEqual } from 'node:util'
import * as v from 'valibot'
import { valueAt } from '../../check/check.js'
import { inlineYaml } from '../../check/yaml.js'
import type { LoadedConfig } from './load.js'
import { allOptions, isOption, isSecret, walkOptions } from './options.js'
import { type Config, configSchema } from './schema.js'

const indent = (path: readonly string[]) => '  '.repeat(path.length - 1)

/** Prints the current configuration as YAML, with the meaning of each option and the origin of its value in comments. Secrets are masked. */
export function printConfig({ config, originOf }: LoadedConfig): string {
  const lines = [...walkOptions()].flatMap(entry => {
    const start = `${indent(entry.path)}${entry.path.at(-1)}:`
    const meaning = `${indent(entry.path)}# ${entry.meaning}`
    if (!isOption(entry)) return [meaning, start]
    const line = `${start} ${inlineYaml(masked(valueAt(config, entry.path), entry.path))} # ${originOf(entry.path)}`
    return [meaning, line]
  })
  return `${lines.join('\n')}\n`
}

/** The options with other values than in `before`, the defaults if it is left out: `pace.tokensPerSecond 40`. Lists and secrets are named only. */
export function changedOptions(config: Config, before: Config = v.parse(configSchema, {})): readonly string[] {
  return allOptions().flatMap(({ path }) => {
    const value = valueAt(config, path)
    if (isDeepStrictEqual(value, valueAt(before, path))) return []
    const name = path.join('.')
    const isShort =
      (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') && value !== ''
    return [isShort && !isSecret(path) ? `${name} ${String(masked(value, path))}` : name]
  })
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

/**
 * The text of a first `platform.config.yaml`: the options that people change, at their defaults. Takes the folder of this package as the
 * file should name it.
 */
export const firstConfig = (folder: string) => `\
# yaml-language-server: $schema=${folder}/dist/config.schema.json
# All options: ${folder}/docs/configuration.md. \${NAME} stands for an environment variable, also one of a .env file beside this one.

port: 4100
mode: emulate # where answers come from: emulate, proxy, record or replay
models: # what GET /v1/models lists and chat accepts
  - { id: gpt-4o-mini, owned_by: openai }
  - { id: gpt-4o, owned_by: openai }
  - { id: llama-3.3-70b-instruct, owned_by: meta }
  - { id: mistral-small-latest, owned_by: mistralai }
  - { id: qwen2.5-72b-instruct, owned_by: qwen }
replies: fixtures/replies/*.{yaml,yml} # rules for what the model says
strict: false # true refuses chat requests that no rule answers
pace: { firstTokenMs: 0, tokensPerSecond: 0 } # 0: streams are sent as fast as possible
users: # who can sign in
  - { email: developer@example.com, password: developer }
apiKeys: # keys that exist from the start
  - { name: development, key: sk-local-StandinDevelopmentKeyDoNotDeploy41E9kt }
upstream: { baseUrl: "", apiKey: "" } # the live platform, for proxy and record
recordings: { dir: fixtures/recordings, onMiss: fail } # what replay does without a recording: fail, nearest, any, emulate or record
`
