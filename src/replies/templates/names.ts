/** Finds the names in a parsed template, and refuses constructs that render wrongly or never end. */
import {
  type Arguments,
  type PropertyAccessToken,
  type RangeToken,
  type Template,
  type Token,
  TypeGuards,
  toValueSync,
  Value,
} from 'liquidjs'

const { isNumberToken, isOperatorToken, isPropertyAccessToken, isQuotedToken, isRangeToken, isWordToken } = TypeGuards

/** A name with its path: `request.metadata.unit`. */
export interface TemplateValue {
  readonly root: string
  /** `undefined` if a step is computed, such as the second one in `match[turn]`. */
  readonly steps: readonly (string | number | undefined)[]
  readonly token: Token
}

export class TemplateMistake extends Error {
  constructor(
    message: string,
    readonly token: Token,
  ) {
    super(message)
  }
}

/** Other template languages have braces, too, and so have many prompts. */
export const RAW_HINT = 'If the braces are plain text, put them between {% raw %} and {% endraw %}.'

/** All names that the template does not define itself. Throws a TemplateMistake. */
export function namesIn(templates: readonly Template[]): readonly TemplateValue[] {
  const named: TemplateValue[] = []
  const definedNames = new Set(['forloop'])

  function visit(template: Template) {
    for (const { content } of template.localScope?.() ?? []) definedNames.add(content)
    for (const name of template.blockScope?.() ?? []) definedNames.add(name)
    for (const argument of template.arguments?.() ?? []) visitArgument(argument, template.token)
    // Without partials, and synchronous: the generator then returns its templates at once.
    if (template.children) for (const child of toValueSync(template.children(false, true)) as Template[]) visit(child)
  }

  function visitArgument(argument: Arguments extends Iterable<infer A> ? A : never, token: Token) {
    if (!(argument instanceof Value)) return visitToken(argument)
    const { postfix } = argument.initial
    requireOneValue(postfix, token)
    for (const operand of postfix) visitToken(operand)
    for (const { args } of argument.filters) for (const arg of args) visitToken(Array.isArray(arg) ? arg[1] : arg)
  }

  function visitToken(token: Token | undefined) {
    if (isRangeToken(token)) {
      requireFiniteRange(token)
      visitToken(token.rhs)
    }
    if (!isPropertyAccessToken(token)) return
    for (const step of token.props) visitToken(step)
    if (token.variable) return visitToken(token.variable)
    named.push(nameOf(token))
  }

  templates.forEach(visit)
  return named.filter(({ root }) => !definedNames.has(root))
}

function nameOf(token: PropertyAccessToken): TemplateValue {
  const [root, ...steps] = token.props.map(step =>
    isWordToken(step) || isQuotedToken(step) || isNumberToken(step) ? step.content : undefined,
  )
  if (typeof root !== 'string') throw new TemplateMistake('A name, such as user, is required here.', token)
  return { root, steps, token }
}

/** Liquid uses the first of several values and ignores the others, so this throws a TemplateMistake. */
function requireOneValue(postfix: readonly Token[], token: Token): void {
  if (postfix.reduce((sum, token) => sum + operands(token), 0) === 1) return
  throw new TemplateMistake(
    `There are operators without values, or values without an operator between them. ${RAW_HINT}`,
    token,
  )
}

/** Throws a TemplateMistake for a range that might never end: with huge numbers, adding 1 has no effect. */
function requireFiniteRange(token: RangeToken): void {
  if (!isNumberToken(token.lhs) || Math.abs(token.lhs.content) > 1e9) {
    throw new TemplateMistake('A range must begin with a literal number: (1..count).', token)
  }
}

/** How a token of a postfix expression changes the number of values on the stack. */
function operands(token: Token): number {
  if (!isOperatorToken(token)) return 1
  return token.operator === 'not' ? 0 : -1
}
