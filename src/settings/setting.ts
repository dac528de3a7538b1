/** A setting: the rule that its text must meet, and the parser that makes its value. */
import * as z from 'zod/mini'

export interface Problem {
  readonly text: string
  /** The parser's reason; '' where it must stay hidden. */
  readonly why: string
}

type Parse<T> = (text: string) => T | undefined

/**
 * @param parse returns undefined or throws where the text breaks the rule
 * @param explained whether operators may see the parser's reason
 */
export const setting = <T>(rule: string, parse: Parse<T>, { explained = false } = {}) =>
  z.pipe(
    z.string('must be text'),
    z.transform((text: string, context): T => {
      let why = ''
      try {
        const value = parse(text)
        if (value !== undefined) return value
      } catch (error) {
        if (explained) why = error instanceof Error ? error.message : String(error)
      }
      context.issues.push({ code: 'custom', message: rule, input: undefined, params: { why } })
      return z.NEVER
    }),
  )

export const matching = (pattern: RegExp, rule: string) =>
  setting(rule, (text) => (pattern.test(text) ? text : undefined))

/** The rule of a setting whose parser explains the problem. */
export const UNREADABLE = 'cannot be read'
