/** Rules, a row each. */

import { TableHead } from '../widgets/table-head.jsx'
import { saysInShort, whenInShort } from './in-short.js'
import type { RuleJson } from './replies-client.js'

interface Props {
  readonly rules: readonly RuleJson[]
  readonly onShow: (rule: RuleJson) => void
  readonly onRemove: (rule: RuleJson) => void
}

export function RuleTable({ rules, onShow, onRemove }: Props) {
  return (
    <table class="table table-stacking rules-table">
      <caption class="unseen">Rules, in the order in which they are tried</caption>
      <TableHead columns={['Rule', 'When', 'Says', 'Answered']} />
      <tbody>
        {rules.map(one => (
          <tr key={one.id ?? one.place}>
            <th scope="row">
              {nameOf(one)}
              {placeOf(one) !== nameOf(one) && <code class="row-detail">{placeOf(one)}</code>}
            </th>
            <td data-label="When">{whenInShort(one.rule)}</td>
            <td data-label="Says">{saysInShort(one.rule)}</td>
            <td data-label="Answered">{timesOf(one)}</td>
            <td class="row-actions">
              <span class="row-buttons">
                <button type="button" class="button button-small" onClick={() => onShow(one)}>
                  Show<span class="unseen"> {nameOf(one)}</span>
                </button>
                {one.id !== null && (
                  <button type="button" class="button button-small button-warns" onClick={() => onRemove(one)}>
                    Remove<span class="unseen"> {nameOf(one)}</span>
                  </button>
                )}
              </span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** `greeting` of `rule "greeting"`. */
export const nameOf = ({ title }: RuleJson) => title.replace(/^rule "?(.*?)"?$/, '$1')

const placeOf = ({ place, scope }: RuleJson) => (scope === null ? place : `${place}, scope ${scope}`)

function timesOf({ answered }: RuleJson): string {
  if (answered === null) return 'not counted'
  return answered < 2 ? (['never', 'once'][answered] ?? '') : `${answered} times`
}
