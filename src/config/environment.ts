/** Puts environment variables into texts: `${NAME}`, `${NAME:-default}`; `$${` stands for `${` itself. */

const reference = /\$(\$\{)|\$\{([^}]*)\}/g
const form = /^([A-Za-z_]\w*)(?::-(.*))?$/s

// Not what stands there: it may be a part of a password.
const notAVariable = `What stands between \${ and } here is not the name of a variable. Write \${NAME} or \${NAME:-default}.`

/** Makes a function that fills in the references of a text. It throws an Error that names what is missing or badly written. */
export function withVariables(variables: Readonly<Record<string, string | undefined>>) {
  return (text: string): string =>
    text.replace(reference, (_whole, escaped: string | undefined, inner: string | undefined) => {
      if (escaped) return escaped
      const [, name = '', fallback] = form.exec(inner ?? '') ?? []
      if (name === '') throw new Error(notAVariable)
      const value = variables[name]
      // As in a shell, the default also steps in for a variable that is set to nothing.
      if (fallback !== undefined) return value || fallback
      if (value === undefined)
        throw new Error(`The environment variable ${name} is not set. Set it, or write \${${name}:-default}.`)
      return value
    })
}
