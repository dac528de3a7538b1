// The output of a command, whose reader may be gone before the command is, as that of `kedge help | head -1`.

/** The end of its reader is no error of the command, and ends no server. Another error is one, as a full disk is. */
export function outliveReaders({ stdout, stderr }: Pick<NodeJS.Process, 'stdout' | 'stderr'> = process): void {
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') return
    console.error(`kedge: the output could not be written: ${error.message}`)
    process.exitCode = 1
  })
  stderr.on('error', () => {})
}
