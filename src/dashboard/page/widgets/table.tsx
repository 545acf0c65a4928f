/** Tables with the actions for a row in the last column. On narrow screens, each row becomes a block. */
import type { ComponentChildren } from 'preact'

export interface Column<Row> {
  readonly name: string
  readonly of: (row: Row) => ComponentChildren
  /** A CSS width. Columns without one share the rest. The layout is fixed, so changing content does not move columns. */
  readonly width?: string
  /** Whether its content needs no label where rows are blocks. */
  readonly plain?: boolean
}

interface TableProps<Row> {
  readonly caption: ComponentChildren
  /** The first column names the row. */
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string
  readonly actions?: (row: Row) => ComponentChildren
  readonly actionsWidth?: string
  readonly none?: ComponentChildren
  /** Whether a row is shown as no longer active. */
  readonly isDim?: (row: Row) => boolean
}

export function Table<Row>({ caption, columns, rows, keyOf, actions, ...more }: TableProps<Row>) {
  const { actionsWidth = '9rem', none, isDim } = more
  const [first, ...others] = columns
  if (rows.length === 0 && none) return <>{none}</>
  return (
    <table class="table">
      <caption class="unseen">{caption}</caption>
      <colgroup>
        {columns.map(({ name, width }) => (
          <col key={name} style={width === undefined ? undefined : { width }} />
        ))}
        {actions && <col style={{ width: actionsWidth }} />}
      </colgroup>
      <Head names={columns.map(({ name }) => name)} hasActions={actions !== undefined} />
      <tbody>
        {rows.map(row => (
          <tr key={keyOf(row)} class={isDim?.(row) ? 'quiet' : undefined}>
            <th scope="row">{first?.of(row)}</th>
            {others.map(({ name, of, plain }) => (
              <td key={name} data-label={plain ? undefined : name}>
                {of(row)}
              </td>
            ))}
            {actions && (
              <td class="row-actions">
                <span class="row-buttons">{actions(row)}</span>
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const Head = ({ names, hasActions }: { readonly names: readonly string[]; readonly hasActions: boolean }) => (
  <thead>
    <tr>
      {names.map(name => (
        <th key={name} scope="col">
          {name}
        </th>
      ))}
      {hasActions && (
        <th scope="col">
          <span class="unseen">Actions</span>
        </th>
      )}
    </tr>
  </thead>
)
