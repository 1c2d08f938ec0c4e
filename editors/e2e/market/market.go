// Debugged by `cargo xtask e2e terminals`, which has the same program in other languages. It finds lines by the word behind `//`.
package main

import (
	"fmt"
	"os"
	"strconv"
)

func total(count int, price int) int {
	sum := 0
	for i := 0; i < count; i++ {
		sum += price // add
	}
	return sum // return
}

func check(sum int) {
	if sum > 50 {
		panic("too much") // throw
	}
}

func order(count int, price int) int {
	due := total(count, price)   // call
	fmt.Printf("due: %d\n", due) // print
	return due
}

func idle() {
	turns := 1
	fmt.Println("waiting")
	// Long, but not forever: an adapter may leave the program behind.
	for turns < 60000000000 {
		turns = turns + 1
	}
}

func attempt(sum int) {
	defer func() {
		fmt.Printf("refused: %v\n", recover()) // refused
	}()
	check(sum)
}

func main() {
	count := 0
	if len(os.Args) > 1 {
		count, _ = strconv.Atoi(os.Args[1]) // begin
	}
	first := order(count, 7)    // first
	second := order(count+2, 9) // second
	attempt(first + second)
	idle()
}
