// What `dapple check` debugs. The comments say what a debugger has to find.
package main

import (
	"fmt"
	"os"
)

type Point struct {
	x, y int
}

func add(a, b int) int { // check: entry
	sum := a + b // check: inside a=3 b=4
	return sum
}

func main() {
	total := 0
	point := Point{3, 4}
	numbers := make([]int, 200)
	for n := range numbers {
		numbers[n] = n * n
	}
	total += numbers[2] + 2          // check: stop total=0 point.x=3
	total += 1                       // check: next total=6 point.y=4
	total = add(point.x, point.y)    // check: call total=7
	for i := 0; i < 5; i++ {         // check: after-call
		total += i               // check: loop
	}
	fmt.Println("the total is", total) // check: end total=17
	os.Exit(3)                         // check: exit 3
}

// check: condition i == 2
// check: function main.add
// check: output the total is 17
// check: none
