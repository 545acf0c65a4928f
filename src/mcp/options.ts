/** The options of MCP servers: what each server offers, with the protocol's own names. */
import * as v from 'valibot'
import {
  closed,
  described,
  different,
  filled,
  integer,
  list,
  map,
  oneForm,
  open,
  option,
  optional,
  text,
  word,
} from '../check/forms.js'
import type { Loaded } from '../check/problem.js'
import { access } from '../core/exchange.js'
import { protocolVersions } from '../core/json-rpc.js'

const object = open({})
const jsonSchema = v.pipe(
  object,
  v.check(schema => schema.type === 'object', 'a JSON Schema of an object, with type: object'),
)
const describingFields = {
  title: optional(text, 'The name shown to users.'),
  description: optional(text, 'What it does. Models choose by it.'),
  icons: optional(list(object, 'icons'), 'Icons that clients may show.'),
  _meta: optional(object, 'Further information, sent unchanged.'),
}

/** The reply of a tool, prompt or resource. It has the form of a rule's reply, and is checked when rules are read. */
const reply = optional(object, "Its answer if no rule matches, in the form of a rule's reply.")

const tool = closed({
  name: described(filled, 'The name of the tool.'),
  ...describingFields,
  inputSchema: v.optional(
    described(jsonSchema, 'The JSON Schema of its arguments. Calls that do not fit it are refused.'),
    { type: 'object' },
  ),
  outputSchema: optional(object, 'The JSON Schema of its structuredContent. Made-up results fit it.'),
  annotations: optional(object, 'Hints such as readOnlyHint.'),
  reply,
})

const address = v.pipe(text, v.regex(/^[a-z][a-z\d+.-]*:.+/i, 'a URI such as file:///readme'))

const displayFields = {
  ...describingFields,
  mimeType: optional(filled, 'Its media type.'),
  annotations: optional(object, 'Hints such as audience and priority.'),
}

const resource = closed({
  uri: described(address, 'The URI of the resource.'),
  name: optional(filled, 'Its name. Defaults to the URI.'),
  ...displayFields,
  size: optional(integer(0, Number.MAX_SAFE_INTEGER), 'Its size in bytes.'),
  text: optional(text, 'Its content.'),
  blob: optional(v.pipe(text, v.base64('text in base64')), 'Its content in base64, if it is not text.'),
  file: optional(filled, 'A file with its content, relative to the configuration.'),
  reply,
})

const resourceTemplate = closed({
  uriTemplate: described(address, 'A URI with variables in braces, such as test://items/{id}.'),
  name: optional(filled, 'Its name. Defaults to the template.'),
  ...displayFields,
  reply,
})

const prompt = closed({
  name: described(filled, 'The name of the prompt.'),
  ...describingFields,
  arguments: optional(
    list(
      closed({
        name: described(filled, 'The name of the argument.'),
        title: optional(text, 'The name shown to users.'),
        description: optional(text, 'What it is for.'),
        required: optional(v.boolean('true or false'), 'Whether it is required.'),
      }),
      'arguments',
    ),
    'The arguments of the prompt.',
  ),
  reply,
})

/** A list whose items have different keys. */
const items = <const S extends v.GenericSchema<unknown, object>>(form: S, what: string, key: string, meaning: string) =>
  v.optional(
    described(
      v.pipe(
        list(form, what),
        v.check(
          all => different(all.map(one => (one as Readonly<Record<string, unknown>>)[key])),
          `a list without two ${what} of the same ${key}`,
        ),
      ),
      meaning,
    ),
    [],
  )

const server = closed({
  access: option(access, ['apiKey', 'user'], 'Who may call: anyone, or a list of anon, service, user, apiKey.'),
  name: option(filled, 'standin', 'The name that the server tells clients.'),
  title: optional(text, 'The name of the server that users see.'),
  version: option(filled, '1.0.0', 'The version that the server tells clients.'),
  instructions: optional(text, 'What models should know about the server.'),
  protocolVersions: option(
    v.pipe(list(word(protocolVersions), 'versions'), v.nonEmpty('a list with at least one version')),
    [...protocolVersions],
    'The versions of the protocol that the server speaks.',
  ),
  tools: items(tool, 'tools', 'name', 'The tools that tools/list returns.'),
  resources: items(resource, 'resources', 'uri', 'The resources that resources/list returns.'),
  resourceTemplates: items(
    resourceTemplate,
    'resource templates',
    'uriTemplate',
    'The resource templates that clients can list.',
  ),
  prompts: items(prompt, 'prompts', 'name', 'The prompts that prompts/list returns.'),
  completions: option(
    map(filled, map(filled, list(text, 'values'), 'a map from arguments to lists of values'), 'a map of arguments'),
    {},
    'Suggested values, by the name of a prompt or the uriTemplate of a resource, then by the argument.',
  ),
  pageSize: option(integer(1, 10_000), 1000, 'Number of items on a page of a list.'),
  sessionIdleMs: option(
    integer(1000, 2 ** 31 - 1),
    1_800_000,
    'How long a session lasts without requests, in milliseconds.',
  ),
  ttlMs: option(
    integer(0, 2 ** 31 - 1),
    0,
    'How long clients may cache lists, in milliseconds, from version 2026-07-28 on.',
  ),
  cacheScope: option(
    word(['public', 'private']),
    'private',
    'Who may share a cached list, from version 2026-07-28 on: public (all callers) or private (one caller).',
  ),
})

/** Paths that Standin answers itself. */
const standinPath =
  /^\/(health|api\/v1|v1\/models|v1\/chat\/completions|auth(\/.*)?|__standin(\/.*)?|dashboard(\/.*)?)$/
const path = v.pipe(
  text,
  v.regex(/^(\/[\w.~-]+)+$/, 'a path such as /mcp'),
  v.check(path => !standinPath.test(path), 'a path that the platform does not answer itself'),
)

const isSingleServer = (written: unknown) =>
  typeof written === 'object' && written !== null && Object.keys(written).some(key => !key.startsWith('/'))

export const mcpOptions = option(
  oneForm([map(path, v.nullish(server, {}), 'a map from paths to servers'), server], written =>
    isSingleServer(written) ? 1 : 0,
  ),
  {},
  'Servers of the Model Context Protocol by their path, such as { /mcp: { tools: […] } }; one without a path is at /mcp.',
)

export type McpServer = v.InferOutput<typeof server>
export type McpTool = McpServer['tools'][number]
export type McpResource = McpServer['resources'][number]
export type McpResourceTemplate = McpServer['resourceTemplates'][number]
export type McpPrompt = McpServer['prompts'][number]

export function mcpServers(configured: v.InferOutput<typeof mcpOptions>): ReadonlyMap<string, McpServer> {
  if (isSingleServer(configured)) return new Map([['/mcp', configured as McpServer]])
  return new Map(Object.entries(configured as Readonly<Record<string, McpServer>>))
}

/** The path of a server's options in the configuration. */
export const mcpServerAt = (configured: v.InferOutput<typeof mcpOptions>, path: string): readonly string[] =>
  isSingleServer(configured) ? ['mcp'] : ['mcp', path]

/** What MCP servers need of the configuration. */
export type LoadedMcp = Loaded<{ readonly mcp: v.InferOutput<typeof mcpOptions> }>
