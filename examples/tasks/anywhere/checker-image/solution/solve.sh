#!/bin/sh
black='\000\000\000'
white='\377\377\377'
even=$black$white$black$white$black$white$black$white
odd=$white$black$white$black$white$black$white$black
{
  printf 'BM\366\000\000\000\000\000\000\000\066\000\000\000'
  printf '\050\000\000\000\010\000\000\000\010\000\000\000\001\000\030\000\000\000\000\000\300\000\000\000'
  printf '\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000'
  for _ in 1 2 3 4; do printf "$even$odd"; done
} > "${PROCTOR_WORKDIR:-/app}/checker.bmp"
