/** The head of a table: the names of its columns, and a last one for what can be done with a row. */

export function TableHead({ columns }: { readonly columns: readonly string[] }) {
  return (
    <thead>
      <tr>
        {columns.map(column => (
          <th key={column} scope="col">
            {column}
          </th>
        ))}
        <th scope="col">
          <span class="unseen">Actions</span>
        </th>
      </tr>
    </thead>
  )
}
