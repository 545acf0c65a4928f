/** Headers, folded away until somebody wants them. */
import { counted } from './wording.js'

export function FoldedHeaders({ headers }: { readonly headers: Readonly<Record<string, string>> }) {
  const entries = Object.entries(headers)
  if (entries.length === 0) return null
  return (
    <details class="fold headers">
      <summary>{counted(entries.length, 'header')}</summary>
      <dl class="pairs">
        {entries.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </details>
  )
}
