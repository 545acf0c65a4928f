/** What is wrong with a text, each with its place; choosing one goes there. */
import type { Problem } from './make-client.js'

interface Props {
  readonly problems: readonly Problem[]
  readonly onChoose: (problem: Problem) => void
}

export function ProblemList({ problems, onChoose }: Props) {
  if (problems.length === 0) return null
  return (
    <ul class="problems">
      {problems.map(problem => (
        <li key={`${problem.line} ${problem.column} ${problem.sentence}`}>
          <button type="button" class="problem-place" onClick={() => onChoose(problem)}>
            Line {problem.line}, column {problem.column}
          </button>
          : {problem.sentence}
        </li>
      ))}
    </ul>
  )
}
