/** Host ports that the pods of a node use, as `ADDRESS PROTOCOL PORT`. */
export const ANY_ADDRESS = '0.0.0.0'

export class HostPorts {
  /** The number of pods with the port. A client that binds pods by hand may give one port to several pods. */
  private readonly taken = new Map<string, number>()

  count(ports: readonly string[], by: 1 | -1): void {
    for (const port of ports) {
      const left = (this.taken.get(port) ?? 0) + by
      if (left > 0) this.taken.set(port, left)
      else this.taken.delete(port)
    }
  }

  /** A single address conflicts with the wildcard address. */
  isTaken(wanted: string): boolean {
    if (this.taken.size === 0) return false
    const space = wanted.indexOf(' ')
    const [address, rest] = [wanted.slice(0, space), wanted.slice(space)]
    if (address !== ANY_ADDRESS) return this.taken.has(wanted) || this.taken.has(ANY_ADDRESS + rest)
    for (const taken of this.taken.keys()) if (taken.endsWith(rest)) return true
    return false
  }
}
