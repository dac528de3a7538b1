/** How the text of one setting is read: what it must be, and what is made of it. */
import * as z from 'zod/mini'

export interface Problem {
  readonly text: string
  /** '' where the parser's reason is not to be shown. */
  readonly why: string
}

type Parse<T> = (text: string) => T | undefined

/** @param parse undefined, or throws, for what is against the rule. @param explained its reason may be shown to operators */
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

/** The rule of a setting whose parser says in words of its own what is wrong. */
export const UNREADABLE = 'cannot be read'
