/** Reads off a parsed template which names stand in it, and refuses what only renders wrongly or never ends. */
import { type Arguments, type Template, type Token, TypeGuards, toValueSync, Value } from 'liquidjs'

const { isNumberToken, isOperatorToken, isPropertyAccessToken, isQuotedToken, isRangeToken, isWordToken } = TypeGuards

/** A name with what is asked of it: `request.metadata.unit`. */
export interface TemplateValue {
  readonly root: string
  /** `undefined` where the step is worked out: the second one of `match[turn]`. */
  readonly steps: readonly (string | number | undefined)[]
  readonly token: Token
  /** Where arguments are given, as in `faker.number.int | with: max: 5`. */
  readonly call?: Call
}

interface Call {
  readonly given: FilterArgs
  /** Where the last name stands: `int`. */
  readonly last: Token | undefined
}

/** The arguments of a filter; those with a name are pairs. */
export type FilterArgs = Value['filters'][number]['args']

/** Something that cannot stand in a template. */
export class TemplateMistake extends Error {
  constructor(
    message: string,
    readonly token: Token,
  ) {
    super(message)
  }
}

export const withWhat =
  'The filter with stands directly behind a function of faker: {{ faker.number.int | with: max: 5 }}.'

/** All names that are not the template's own. Throws a Refusal. */
export function namesIn(templates: readonly Template[]): readonly TemplateValue[] {
  const named: TemplateValue[] = []
  const own = new Set(['forloop'])

  function visit(template: Template) {
    for (const { content } of template.localScope?.() ?? []) own.add(content)
    for (const name of template.blockScope?.() ?? []) own.add(name)
    for (const argument of template.arguments?.() ?? []) visitArgument(argument, template.token)
    // No partials, and synchronously: then the generator gives its templates back at once.
    if (template.children) for (const child of toValueSync(template.children(false, true)) as Template[]) visit(child)
  }

  function visitArgument(argument: Arguments extends Iterable<infer A> ? A : never, token: Token) {
    if (!(argument instanceof Value)) return visitToken(argument)
    const { postfix } = argument.initial
    // Liquid takes the first of several values, and says nothing of the others.
    if (postfix.reduce((sum, token) => sum + operands(token), 0) !== 1) {
      throw new TemplateMistake(
        'There are operators without values, or values without an operator between them.',
        token,
      )
    }
    const [first, ...others] = argument.filters
    const isCall = first?.name === 'with' && isPropertyAccessToken(postfix[0])
    if (others.some(({ name }) => name === 'with') || (first?.name === 'with' && !isCall)) {
      throw new TemplateMistake(withWhat, token)
    }
    if (isCall) visitToken(postfix[0], first.args)
    else for (const operand of postfix) visitToken(operand)
    for (const { args } of argument.filters) for (const arg of args) visitToken(Array.isArray(arg) ? arg[1] : arg)
  }

  function visitToken(token: Token | undefined, given?: FilterArgs) {
    if (isRangeToken(token)) {
      // From where numbers are so large that adding one changes nothing, a range would go on for ever.
      if (!isNumberToken(token.lhs) || Math.abs(token.lhs.content) > 1e9) {
        throw new TemplateMistake('A range begins with a number that is written out: (1..count).', token)
      }
      visitToken(token.rhs)
    }
    if (!isPropertyAccessToken(token)) return
    const steps = token.props.map(step =>
      isWordToken(step) || isQuotedToken(step) || isNumberToken(step) ? step.content : undefined,
    )
    for (const step of token.props) visitToken(step)
    if (token.variable) return visitToken(token.variable)
    const [root, ...others] = steps
    if (typeof root !== 'string') throw new TemplateMistake('Here has to stand a name, such as user.', token)
    named.push({ root, steps: others, token, ...(given && { call: { given, last: token.props.at(-1) } }) })
  }

  templates.forEach(visit)
  return named.filter(({ root }) => !own.has(root))
}

/** What a token of a postfix expression adds to the values that are there. */
function operands(token: Token): number {
  if (!isOperatorToken(token)) return 1
  return token.operator === 'not' ? 0 : -1
}
