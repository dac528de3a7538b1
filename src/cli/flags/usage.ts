// How a command of the command line reads its flags.
import { parseArgs } from 'node:util'

/** A mistake in the command line; printed without a stack. */
export class UsageError extends Error {}

/** @throws UsageError */
export function parse<Options extends NonNullable<Parameters<typeof parseArgs>[0]>['options']>(
  args: string[],
  options: Options,
) {
  const values = parsed(args, options)
  // an empty path is the current directory; from a script it is a variable that is not set
  if ('data-dir' in values && values['data-dir'] === '') throw new UsageError('--data-dir wants a directory, not "".')
  return values
}

function parsed<Options extends NonNullable<Parameters<typeof parseArgs>[0]>['options']>(
  args: string[],
  options: Options,
) {
  try {
    return parseArgs({ args, options, strict: true, allowPositionals: false }).values
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message.replace(/\. To specify.*/s, '.') : String(error))
  }
}
