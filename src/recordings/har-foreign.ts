/** Recognizes files of other tools that people try to import, and says what to do instead. */
import { isObject } from '../core/json.js'

type Test = (json: unknown, text: string) => boolean

/** What the file is, if it is not a HAR file but one of a known tool; `json` is its value, if it is JSON. */
export function foreignFile(text: string, json: unknown): string | undefined {
  const found = forms.find(({ isIt }) => isIt(json, text))
  return found && `This is ${found.what}, and import reads HAR files. ${found.advice} See docs/coming-from.md.`
}

const AGAIN =
  'Run the tests once with "standin exec --mode record -- npm test"; after that, "--mode replay" answers from the recordings.'
const RULES = 'Write its answers as rules in fixtures/replies, with the path in "on" and the answer in "reply".'

const has = (value: unknown, ...keys: readonly string[]) => isObject(value) && keys.every(key => key in value)
const listOf = (value: unknown, isIt: (item: unknown) => boolean) => Array.isArray(value) && value.some(isIt)
const inYaml =
  (form: RegExp): Test =>
  (json, text) =>
    json === undefined && form.test(text)
const either =
  (...tests: readonly Test[]): Test =>
  (json, text) =>
    tests.some(isIt => isIt(json, text))

const isMapping = (value: unknown) =>
  has(value, 'request', 'response') && isObject(value) && isObject(value.request) && !has(value.request, 'uri')

/** The first that fits counts. */
const forms: readonly { readonly what: string; readonly isIt: Test; readonly advice: string }[] = [
  {
    what: 'a cassette of VCR',
    isIt: either(inYaml(/^http_interactions:/m), json => has(json, 'http_interactions')),
    advice: AGAIN,
  },
  {
    what: 'a cassette of vcrpy or go-vcr',
    isIt: either(inYaml(/^-? *interactions:|^- *request:/m), json => has(json, 'interactions')),
    advice: AGAIN,
  },
  {
    what: 'a file of nock',
    isIt: json => listOf([json].flat(), item => has(item, 'scope', 'path')),
    advice: AGAIN,
  },
  {
    what: 'a file of WireMock',
    isIt: json => isMapping(json) || (isObject(json) && listOf(json.mappings, isMapping)),
    advice: RULES,
  },
  {
    what: 'an environment of Mockoon',
    isIt: json =>
      has(json, 'routes') || (has(json, 'source', 'data') && isObject(json) && /mockoon/.test(String(json.source))),
    advice: `${RULES} Or export it as OpenAPI, and set "openapi: FILE".`,
  },
  {
    what: 'a collection of Postman',
    isIt: json => has(json, 'info', 'item') || has(json, '_postman_variable_scope'),
    advice: RULES,
  },
  {
    what: 'an export of Insomnia',
    isIt: either(json => has(json, '_type', 'resources'), inYaml(/^_?type: *['"]?(export\b|\w+\.insomnia)/m)),
    advice: RULES,
  },
  {
    what: 'a file of aimock',
    isIt: json => isObject(json) && listOf(json.fixtures, item => has(item, 'match', 'response')),
    advice: 'Write its fixtures as rules in fixtures/replies, with "match" as "when" and "response" as "reply".',
  },
  {
    what: 'a file of MockServer',
    isIt: json => listOf([json].flat(), item => has(item, 'httpRequest')),
    advice: RULES,
  },
  {
    what: 'an OpenAPI document',
    isIt: either(json => has(json, 'openapi') || has(json, 'swagger'), inYaml(/^['"]?(openapi|swagger)['"]?:/m)),
    advice: 'Set "openapi: FILE" in platform.config.yaml, and its paths are answered.',
  },
  {
    what: 'a database of json-server',
    isIt: json => isObject(json) && !('entries' in json) && isDatabase(Object.values(json)),
    advice: 'Each of its lists can be a resource: "resources: { /builder/posts: { data: FILE_WITH_THE_LIST } }".',
  },
]

const isDatabase = (lists: readonly unknown[]) =>
  lists.some(rows => listOf(rows, isObject)) && lists.every(rows => Array.isArray(rows) && rows.every(isObject))
