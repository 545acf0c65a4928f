/** The filters of the request list. The `/` key moves the focus to the search. */
import { useMemo, useRef } from 'preact/hooks'
import { type Caller, callerKinds } from '../../../core/caller.js'
import { modes } from '../../../core/exchange.js'
import type { JournalBrief } from '../../../journal/operations.js'
import { Button } from '../widgets/button.jsx'
import { Disclosure } from '../widgets/disclosure.jsx'
import { Checkbox, Select } from '../widgets/fields.jsx'
import { useKeys } from '../widgets/keys.js'
import { everything, type Filter, type FilterWord, filterWords } from './filter.js'

interface Props {
  readonly filter: Filter
  /** The requests whose values are offered. */
  readonly rows: readonly JournalBrief[]
  readonly onChange: (filter: Filter) => void
}

export function FilterBar({ filter, rows, onChange }: Props) {
  const search = useRef<HTMLInputElement>(null)
  useKeys({ '/': () => search.current?.focus() })
  const set = filterWords.filter(word => filter[word] !== '').length + (filter.problems ? 1 : 0)
  const showAll = () => {
    onChange(everything)
    search.current?.focus()
  }
  return (
    <search class="row">
      <input
        ref={search}
        type="search"
        aria-label="Search in path, status, prompt, rule, recording, model, error and credential"
        title="Also text:&quot;in a body&quot; model:gpt-4o* status:401 credential:&quot;my laptop&quot; endpoint:*completions method: path: caller: source: complete:"
        aria-keyshortcuts="/"
        placeholder="Search ( / )"
        value={filter.search}
        spellcheck={false}
        autocapitalize="off"
        autocomplete="off"
        onInput={({ currentTarget }) => onChange({ ...filter, search: currentTarget.value })}
      />
      {(set > 0 || filter.search !== '') && (
        <Button small onClick={showAll}>
          Show all
        </Button>
      )}
      <Disclosure summary="Filters" note={set > 0 ? set : undefined} class="filter-fold">
        <Choices filter={filter} rows={rows} onChange={onChange} />
      </Disclosure>
    </search>
  )
}

function Choices({ filter, rows, onChange }: Props) {
  const seen = useMemo(() => valuesIn(rows), [rows])
  const change = (changed: Partial<Filter>) => onChange({ ...filter, ...changed })
  return (
    <div class="filter-choices">
      {filterWords.map(word => (
        <Select
          key={word}
          label={names[word]}
          value={filter[word]}
          options={optionsFor(word, seen[word], filter[word])}
          onChange={value => change({ [word]: value })}
        />
      ))}
      <Checkbox label="Only misses and errors" value={filter.problems} onChange={problems => change({ problems })} />
    </div>
  )
}

const names: Readonly<Record<FilterWord, string>> = {
  status: 'Status',
  caller: 'Caller',
  mode: 'Mode',
  model: 'Model',
  endpoint: 'Endpoint',
  scope: 'Scope',
}

/** Values that are always offered. */
const always: Readonly<Partial<Record<FilterWord, readonly string[]>>> = {
  status: ['2xx', '3xx', '4xx', '5xx', 'none'],
  caller: callerKinds,
  mode: modes,
}

const callers: Readonly<Record<Caller['kind'], string>> = {
  anonymous: 'no credential',
  refused: 'refused credential',
  stranger: 'checked by the live platform',
  anon: 'anon key',
  service: 'service key',
  user: 'user',
  apiKey: 'API key',
}

const classes: Readonly<Record<string, string>> = {
  '2xx': '2xx, answered',
  '3xx': '3xx, redirected',
  '4xx': '4xx, refused',
  '5xx': '5xx, failed',
  none: 'no response',
}

function optionsFor(word: FilterWord, seen: readonly string[], chosen: string) {
  const values = new Set([...(always[word] ?? []), ...seen, chosen])
  values.delete('')
  const inWords = (value: string) =>
    (word === 'caller' ? callers[value as Caller['kind']] : word === 'status' ? classes[value] : undefined) ?? value
  return [['', 'Any'] as const, ...[...values].map(value => [value, inWords(value)] as const)]
}

function valuesIn(rows: readonly JournalBrief[]): Readonly<Record<FilterWord, readonly string[]>> {
  const all = (of: (brief: JournalBrief) => string | number | null) =>
    [...new Set(rows.map(row => String(of(row) ?? '')))].sort()
  return {
    caller: [],
    mode: [],
    status: all(({ status }) => status),
    model: all(({ model }) => model),
    endpoint: all(({ endpoint }) => endpoint),
    scope: all(({ scope }) => scope),
  }
}
