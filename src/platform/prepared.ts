/** What is read and loaded for one configuration before it is put to use. */
import type { Tokenizer } from '../chat/tokens/index.js'
import type { PathSource } from '../core/exchange.js'
import type { Redact } from '../recordings/redact/index.js'
import type { LoadedRules } from '../replies/index.js'
import type { LoadedResources } from '../resources/load.js'
import type { Tokens } from '../supabase/tokens.js'
import type { LoadedConfig } from './config/load.js'

/** The code of MCP servers. */
export type McpFolder = typeof import('../mcp/index.js')

/** A configuration, and what it names. */
export interface PreparedConfig {
  readonly loaded: LoadedConfig
  readonly rules: LoadedRules['rules']
  /** The files in use besides the configuration and the rule files. */
  readonly files: readonly string[]
  /** Signs and verifies the tokens of the auth backend. */
  readonly tokens: Tokens
  /** Redacts what is shown and recorded. */
  readonly redact: Redact
  readonly tokenizer: Tokenizer
  readonly resources: LoadedResources['resources']
  /** Answers the operations of OpenAPI documents; `undefined` if there are none. */
  readonly openApi: PathSource | undefined
  /** The code of MCP servers; `undefined` if there are none. */
  readonly mcp: McpFolder | undefined
}
