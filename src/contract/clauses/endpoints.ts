/** Clauses about GET /health, GET /api/v1 and GET /v1/models. */

import { anyJson, field, fitting, jsonIn, jsonObject, mistakesOf, someName, status } from '../answer-checks.js'
import { healthAnswer, indexAnswer, listedEndpoint, modelsAnswer } from '../answers.js'
import { get, health, index, listedModels, models, withApiKey } from '../calls.js'
import { type AnswerCheck, asking, type ClauseForm } from '../clause.js'

export const healthClauses: readonly ClauseForm[] = [
  {
    id: 'EP-1',
    section: 'Endpoints',
    quotes: [
      '| GET | /health | none | Health response object |',
      'All paths are relative to {base_url}.',
      'Base address: {base_url}.',
      'A health check.',
    ],
    what: 'GET /health below the base address answers with status 200.',
    check: asking(health, status(200)),
  },
  {
    id: 'HEALTH-1',
    section: 'Resources and their fields',
    quotes: ['### Health response (JSON)'],
    what: 'The health response is a JSON object.',
    needs: ['EP-1'],
    check: asking(health, jsonObject),
  },
  {
    id: 'HEALTH-2',
    section: 'Resources and their fields',
    quotes: ['| status | string | Value ok when healthy. |'],
    what: 'The health response has the status ok.',
    needs: ['HEALTH-1'],
    check: asking(health, field('status', healthAnswer, 'the status "ok"')),
  },
  {
    id: 'HEALTH-3',
    section: 'Resources and their fields',
    quotes: [
      '| version | string | Service version in dotted numeric form <major.minor.patch>. |',
      'The health response carries a version string field.',
    ],
    what: 'The health response has a version: a string of three numbers separated by dots.',
    needs: ['HEALTH-1'],
    check: asking(health, field('version', healthAnswer, 'a version such as 1.0.0')),
  },
  {
    id: 'HEALTH-D1',
    section: 'Endpoints',
    quotes: ['Whether the health check requires authentication: not shown.'],
    what: 'The health check needs no credential.',
    check: asking(() => get('/health'), status(200)),
    needs: ['EP-1'],
  },
]

const endpointsIn = (text: string) => (jsonIn(text).value as { readonly endpoints: readonly unknown[] }).endpoints

const elements: AnswerCheck = {
  expected: 'elements with method, path and credential',
  differs({ text }) {
    for (const [i, element] of endpointsIn(text).entries()) {
      const mistake = mistakesOf(listedEndpoint, element)
      if (mistake !== undefined) return `endpoints[${i}]: ${mistake.replace(/^The body/, 'it')}`
    }
    return undefined
  },
}

const documentedRoutes = ['GET /health', 'GET /api/v1', 'POST /v1/chat/completions', 'GET /v1/models']

const allEndpoints: AnswerCheck = {
  expected: `the endpoints ${documentedRoutes.join(', ')}`,
  differs({ text }) {
    const listed = (endpointsIn(text) as readonly { readonly method: string; readonly path: string }[]).map(
      ({ method, path }) => `${method} ${path}`,
    )
    const missing = documentedRoutes.filter(endpoint => !listed.includes(endpoint))
    return missing.length === 0 ? undefined : `no ${missing.join(', no ')}`
  },
}

const elementsNotShown = 'Elements of the endpoints array: not shown.'

export const indexClauses: readonly ClauseForm[] = [
  {
    id: 'EP-2',
    section: 'Endpoints',
    quotes: [
      '| GET | /api/v1 | none | API index response object |',
      'GET /api/v1 is called with Authorization: Bearer <ANON_KEY>.',
      'The platform API (/api/v1) accepts an anonymous-role key, <ANON_KEY>, in the bearer position.',
      'The platform API lives under the path prefix /api/v1.',
      'An API index that lists endpoints.',
    ],
    what: 'GET /api/v1 with the anon key answers with status 200.',
    check: asking(index, status(200)),
  },
  {
    id: 'INDEX-1',
    section: 'Resources and their fields',
    quotes: ['### API index response (JSON)'],
    what: 'The API index is a JSON object.',
    needs: ['EP-2'],
    check: asking(index, jsonObject),
  },
  {
    id: 'INDEX-2',
    section: 'Resources and their fields',
    quotes: ['| status | string | Value ok. |'],
    what: 'The API index has the status ok.',
    needs: ['INDEX-1'],
    check: asking(index, field('status', indexAnswer, 'the status "ok"')),
  },
  {
    id: 'INDEX-3',
    section: 'Resources and their fields',
    quotes: ['| endpoints | array | List of endpoints. |'],
    what: 'The API index has an array of endpoints.',
    needs: ['INDEX-1'],
    check: asking(index, field('endpoints', indexAnswer, 'an array of endpoints')),
  },
  {
    id: 'INDEX-D1',
    section: 'Resources and their fields',
    quotes: [elementsNotShown],
    what: 'Each endpoint in the API index has a method, a path and the kinds of credential that it accepts.',
    needs: ['INDEX-3'],
    check: asking(index, elements),
  },
  {
    id: 'INDEX-D2',
    section: 'Resources and their fields',
    quotes: [elementsNotShown],
    what: 'The API index lists each documented endpoint.',
    needs: ['INDEX-D1'],
    check: asking(index, allEndpoints),
  },
]

const sameList: AnswerCheck = {
  expected: 'the whole list, whatever the query',
  async differs({ text }, target) {
    const { data } = jsonIn(text).value as { readonly data?: readonly unknown[] }
    const whole = (await listedModels(target)).length
    return data?.length === whole ? undefined : `${data?.length ?? 'no'} of ${whole} models`
  },
}

export const modelsClauses: readonly ClauseForm[] = [
  {
    id: 'EP-4',
    section: 'Endpoints',
    quotes: [
      '| GET | /v1/models | none | Model list (JSON) |',
      'Chat completion and model listing carry the header Authorization: Bearer <API_KEY>.',
      'The language model API (/v1/...) accepts an API key, <API_KEY>, generated by a signed-in developer in the user dashboard.',
      'Requests carry the header Authorization with the value Bearer followed by a credential.',
      'The language model API lives under the path prefix /v1.',
      'A listing of available models.',
    ],
    what: 'GET /v1/models with an API key answers with status 200.',
    check: asking(models, status(200)),
  },
  {
    id: 'MODELS-1',
    section: 'Endpoints',
    quotes: ['| GET | /v1/models | none | Model list (JSON) |'],
    what: 'The model list is JSON.',
    needs: ['EP-4'],
    check: asking(models, anyJson),
  },
  {
    id: 'MODELS-2',
    section: 'Resources and their fields',
    quotes: [
      '| model | string | Identifier of a model, <model_id>. Valid identifiers are those the model listing returns. |',
    ],
    what: 'The model list names at least one model.',
    needs: ['MODELS-1'],
    check: asking(models, someName),
  },
  {
    id: 'MODELS-D1',
    section: 'Resources and their fields',
    quotes: ['Model list response fields: not shown.'],
    what: "The model list has OpenAI's format.",
    needs: ['MODELS-2'],
    check: asking(models, fitting(modelsAnswer, "OpenAI's list of models")),
  },
  {
    id: 'MODELS-D2',
    section: 'Endpoints',
    quotes: ['Query parameters and pagination for the model list: not shown.'],
    what: 'The model list has no pages: it is always complete, and a limit in the query is ignored.',
    needs: ['MODELS-D1'],
    check: asking(withApiKey('/v1/models?limit=1'), status(200), jsonObject, sameList),
  },
]
