/** The head of a table: column names, and a last column for the actions of a row. */

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
