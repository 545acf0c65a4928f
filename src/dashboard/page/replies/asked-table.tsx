/** Chat requests, a row each, with what can be made of them. */
import { Moment } from '../widgets/moment.jsx'
import { StatusBadge } from '../widgets/status-badge.jsx'
import { askedInShort } from './in-short.js'
import type { AskedJson } from './replies-client.js'

interface Props {
  readonly asked: readonly AskedJson[]
  readonly onChoose: (kind: 'rule' | 'recording', id: string) => void
}

export function AskedTable({ asked, onChoose }: Props) {
  return (
    <table class="table table-stacking asked-table">
      <caption class="unseen">The last chat requests</caption>
      <thead>
        <tr>
          <th scope="col">Asked</th>
          <th scope="col">Answer</th>
          <th scope="col">When</th>
          <th scope="col">
            <span class="unseen">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {asked.map(({ id, at, status, source, request }) => (
          <tr key={id}>
            <th scope="row">
              {askedInShort(request.body)}
              <span class="row-detail">{source ?? 'no answer'}</span>
            </th>
            <td>
              <StatusBadge status={status} />
            </td>
            <td data-label="When">
              <Moment at={at} />
            </td>
            <td class="row-actions">
              <span class="row-buttons">
                <button type="button" class="button button-small" onClick={() => onChoose('rule', id)}>
                  Make a rule<span class="unseen"> of request {id}</span>
                </button>
                <button type="button" class="button button-small" onClick={() => onChoose('recording', id)}>
                  Make a recording<span class="unseen"> of request {id}</span>
                </button>
              </span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
