/** All clauses, in the order in which they are reported, and the parts of the platform's document that have none. */
import type { Clause } from '../clause.js'
import { authenticationClauses, credentialClauses } from './authentication.js'
import { chatClauses, chatFormClauses, chatRefusalClauses } from './chat.js'
import { healthClauses, indexClauses, modelsClauses } from './endpoints.js'
import { errorClauses, limitClauses } from './errors.js'

export const clauses: readonly Clause[] = [
  ...healthClauses,
  ...indexClauses,
  ...modelsClauses,
  ...chatClauses,
  ...chatFormClauses,
  ...chatRefusalClauses,
  ...authenticationClauses,
  ...credentialClauses,
  ...errorClauses,
  ...limitClauses,
].map(clause => ({ ...clause, source: /-D\d/.test(clause.id) ? 'decided' : 'documented' }))

export interface UncheckedStatement {
  /** Verbatim. */
  readonly quote: string
  readonly why: string
}

const title = 'a title'
const heading = 'the header of a table'
const listIntroduction = 'it introduces a list; the items have clauses of their own'
const leftOpen = 'the document leaves it open, and Standin decides nothing about it'

/** Statements of the platform's document that cannot be checked from outside, and why not. */
export const silent: readonly UncheckedStatement[] = [
  { quote: '# AI Platform API Specification', why: title },
  {
    quote:
      'This document covers all nine parts for the service: what it does, resources, states, endpoints, authentication, events, errors, limits and versioning.',
    why: 'it is about the document',
  },
  { quote: '## What the service does', why: title },
  {
    quote: 'The service is a platform that runs a suite of AI-powered products behind one domain.',
    why: 'the products are not shown',
  },
  { quote: 'The products communicate through a shared API layer.', why: "it is about the platform's internals" },
  { quote: 'The API exposes:', why: listIntroduction },
  {
    quote: 'A developer signs in to a user dashboard and generates an API key.',
    why: 'it would create a key, and the contract changes nothing; EP-3 and EP-4 check what a key is accepted for',
  },
  {
    quote:
      'The key connects an application to the chat assistant, the language model, tool-protocol (MCP) tools and builder services.',
    why: 'of these, the document describes only the language model, which EP-3 and EP-4 check',
  },
  {
    quote:
      'Products in the suite, the behaviour of builder services and the behaviour of tool-protocol tools: not shown.',
    why: leftOpen,
  },
  { quote: '## Resources and their fields', why: title },
  { quote: '### Chat completion request (JSON body)', why: title },
  { quote: '| Field | Type | Notes |', why: heading },
  { quote: '### Model list', why: title },
  { quote: '### Error object (JSON)', why: title },
  { quote: '## States and transitions', why: title },
  { quote: 'No states are named.', why: 'there is nothing to check' },
  { quote: 'Transitions: not shown.', why: leftOpen },
  { quote: '## Endpoints', why: title },
  { quote: '| Method | Path | Request payload | Response payload |', why: heading },
  { quote: 'Rules:', why: listIntroduction },
  { quote: '## Authentication', why: title },
  { quote: '## Events', why: title },
  { quote: 'Events: not shown.', why: leftOpen },
  { quote: '## Errors', why: title },
  { quote: '| HTTP status | Condition | Body shape |', why: heading },
  { quote: '## Limits', why: title },
  { quote: '## Versioning', why: title },
  {
    quote: 'Version policy, deprecation rules and how the health version relates to path prefixes: not shown.',
    why: leftOpen,
  },
]
