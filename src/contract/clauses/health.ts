/** Clauses about GET /health. */
import { healthAnswer } from '../../core/answers.js'
import { get, health } from '../calls.js'
import { asking, type Clause } from '../clause.js'
import { field, jsonObject, status } from '../looks.js'

export const healthClauses: readonly Clause[] = [
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
    source: 'documented',
    check: asking(health, status(200)),
  },
  {
    id: 'HEALTH-1',
    section: 'Resources and their fields',
    quotes: ['### Health response (JSON)'],
    what: 'The health response is a JSON object.',
    source: 'documented',
    needs: ['EP-1'],
    check: asking(health, jsonObject),
  },
  {
    id: 'HEALTH-2',
    section: 'Resources and their fields',
    quotes: ['| status | string | Value ok when healthy. |'],
    what: 'The health response has the status ok.',
    source: 'documented',
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
    what: 'The health response has a version: a string of three numbers with dots between them.',
    source: 'documented',
    needs: ['HEALTH-1'],
    check: asking(health, field('version', healthAnswer, 'a version such as 1.0.0')),
  },
  {
    id: 'HEALTH-D1',
    section: 'Endpoints',
    quotes: ['Whether the health check requires authentication: not shown.'],
    what: 'The health check needs no credential.',
    source: 'decided',
    check: asking(() => get('/health'), status(200)),
    needs: ['EP-1'],
  },
]
