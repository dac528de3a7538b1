// A Redis in memory, for programs that need one. It prints its address, and ends with its standard input.
package main

import (
	"fmt"
	"io"
	"log"
	"os"

	"github.com/alicebob/miniredis/v2"
)

func main() {
	server, err := miniredis.Run()
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	fmt.Println(server.Addr())
	_, _ = io.Copy(io.Discard, os.Stdin)
}
